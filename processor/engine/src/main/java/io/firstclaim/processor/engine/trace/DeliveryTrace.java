package io.firstclaim.processor.engine.trace;

import io.firstclaim.lock.OneLine;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.api.EngineListener.Claimed;
import io.firstclaim.processor.engine.api.EngineListener.Delivered;
import io.firstclaim.processor.engine.api.WaitsFor;
import io.firstclaim.processor.handler.HandlerResult;
import io.firstclaim.processor.handler.RecordHandler;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import org.jspecify.annotations.Nullable;

/**
 * A delivery as spans: one for each attempt, linked to the one before it, and below it one for each
 * {@link Step}, one after the other. All attempts are the producer's children; without a producer
 * that is traced, the first attempt is the root and the others are its children. So one trace has
 * it all.
 */
final class DeliveryTrace implements Trace {
  private static final AttributeKey<String> MESSAGE_ID =
      AttributeKey.stringKey("messaging.message.id");
  private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");
  private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("firstclaim.outcome");
  private static final AttributeKey<String> CLAIM = AttributeKey.stringKey("firstclaim.claim");
  private static final AttributeKey<String> RESULT = AttributeKey.stringKey("firstclaim.result");
  private static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("firstclaim.attempt");
  private static final AttributeKey<Long> TOKEN = AttributeKey.longKey("firstclaim.token");
  private static final AttributeKey<String> TAKEN_FROM =
      AttributeKey.stringKey("firstclaim.taken_over_from");

  /** What happens in an attempt. */
  private enum Step {
    WAIT("wait"),
    CLAIM("claim"),
    HANDLE("handle"),
    DEAD_LETTER("dead-letter"),
    SETTLE("settle");

    private final String spanName;

    Step(String spanName) {
      this.spanName = spanName;
    }
  }

  /** An attempt under way, and the step at which it is, if any. */
  private static final class Attempt {
    private final Span span;
    private final Context context;
    private @Nullable Step at;
    private Span step = Span.getInvalid();

    Attempt(Span span, Context parent) {
      this.span = span;
      this.context = parent.with(span);
    }
  }

  private final Tracer tracer;
  private final String name;
  private Attributes attributes;
  private Context parent;
  private SpanContext last = SpanContext.getInvalid();
  private @Nullable Attempt attempt;

  /**
   * A delivery whose first attempt begins, and waits.
   *
   * @param name of its spans
   * @param attributes of each of them
   * @param producer what its producer said of the trace, if anything
   */
  DeliveryTrace(Tracer tracer, String name, Attributes attributes, Context producer) {
    this.tracer = tracer;
    this.name = name;
    this.attributes = attributes;
    this.parent = producer;
    Attempt _ = at(Step.WAIT);
  }

  private Attempt attempt() {
    return attempt == null ? begin() : attempt;
  }

  private Attempt begin() {
    Span span =
        tracer
            .spanBuilder(name)
            .setSpanKind(SpanKind.CONSUMER)
            .setParent(parent)
            .setAllAttributes(attributes)
            .addLink(last) // a link to an invalid span is left out
            .startSpan();
    Attempt begun = new Attempt(span, parent);
    if (!Span.fromContext(parent).getSpanContext().isValid()) {
      parent = begun.context;
    }
    last = span.getSpanContext();
    attempt = begun;
    return begun;
  }

  /** Has it go on to this step, unless it is there already. */
  private Attempt at(Step step) {
    Attempt current = attempt();
    if (current.at != step) {
      current.step.end();
      current.at = step;
      current.step = tracer.spanBuilder(step.spanName).setParent(current.context).startSpan();
    }
    return current;
  }

  /** Ends this step, if it is there, before it is known what comes next. */
  private void leave(Step step) {
    Attempt current = attempt();
    if (current.at == step) {
      current.step.end();
      current.step = Span.getInvalid();
      current.at = null;
    }
  }

  private void over(String outcome, boolean bad) {
    Attempt ended = attempt();
    attempt = null;
    ended.step.end();
    ended.span.setAttribute(OUTCOME, outcome);
    if (bad) {
      fail(ended.span, outcome);
    }
    ended.span.end();
  }

  /** Says of what kind the fault was, but not what was said of it: that may have been a value. */
  private static void fail(Span span, String kind) {
    span.setAttribute(ERROR, kind).setStatus(StatusCode.ERROR);
  }

  @Override
  public @Nullable String id() {
    return last.isValid() ? last.getTraceId() : null;
  }

  @Override
  public void identified(RecordId id) {
    attributes = attributes.toBuilder().put(MESSAGE_ID, id.text()).build();
    attempt().span.setAttribute(MESSAGE_ID, id.text());
  }

  @Override
  public void waits(WaitsFor what) {
    at(Step.WAIT).step.addEvent(what.name());
  }

  @Override
  public void claims() {
    Attempt _ = at(Step.CLAIM);
  }

  @Override
  public void claimed(Claimed answer) {
    Span claim = at(Step.CLAIM).step.setAttribute(CLAIM, answer.name());
    if (answer == Claimed.UNAVAILABLE || answer == Claimed.UNREADABLE) {
      fail(claim, answer.name());
    }
    leave(Step.CLAIM);
  }

  @Override
  public void granted(int number, long token) {
    attempt().span.setAttribute(ATTEMPT, (long) number).setAttribute(TOKEN, token);
  }

  @Override
  public void tookOver(String from) {
    attempt().span.setAttribute(TAKEN_FROM, OneLine.of(from));
  }

  @Override
  public RecordHandler handles(RecordHandler handler) {
    Attempt handled = at(Step.HANDLE);
    Context context = handled.context.with(handled.step);
    return call -> {
      try (Scope _ = context.makeCurrent()) {
        return handler.handle(call);
      }
    };
  }

  @Override
  public void handled(HandlerResult result) {
    Span handle = at(Step.HANDLE).step;
    String kind =
        switch (result) {
          case HandlerResult.Done _ -> "DONE";
          case HandlerResult.Retry _ -> "RETRY";
          case HandlerResult.Unavailable _ -> "UNAVAILABLE";
          case HandlerResult.Failed _ -> "FAILED";
        };
    handle.setAttribute(RESULT, kind);
    if (!(result instanceof HandlerResult.Done)) {
      fail(handle, kind);
    }
    leave(Step.HANDLE);
  }

  @Override
  public void buries() {
    Attempt _ = at(Step.DEAD_LETTER);
  }

  @Override
  public void settles() {
    Attempt _ = at(Step.SETTLE);
  }

  @Override
  public void delivered(Delivered result) {
    switch (result) {
      case COMPLETED, DUPLICATE -> over(result.name(), false);
      case FAILED, DEAD, LOST, MISMATCH -> over(result.name(), true);
    }
  }

  @Override
  public void abandoned() {
    over("ABANDONED", true);
  }

  @Override
  public void settledBy(Trace other) {
    if (other instanceof DeliveryTrace its) {
      attempt().span.addLink(its.last);
    }
  }

  @Override
  public void end() {
    if (attempt != null) {
      over("LEFT", false);
    }
  }
}

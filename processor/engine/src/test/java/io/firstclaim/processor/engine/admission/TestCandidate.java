package io.firstclaim.processor.engine.admission;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstclaim.lock.Moment;
import io.firstclaim.lock.RecordId;
import io.firstclaim.processor.engine.testing.TestTime;
import java.util.List;
import java.util.function.Consumer;

/** A record that tells when it is called. */
public record TestCandidate(
    String name,
    Object partition,
    InFlightLimit.Usage usage,
    List<String> resources,
    Consumer<String> called)
    implements Candidate {

  @Override
  public RecordId id() {
    return RecordId.of(name);
  }

  @Override
  public Moment arrival() {
    return TestTime.standing().now();
  }

  @Override
  public boolean isWanted() {
    return true;
  }

  @Override
  public byte[] grouping() {
    return name.getBytes(UTF_8);
  }

  @Override
  public void call() {
    called.accept(name);
  }

  @Override
  public void free() {
    called.accept(name + " is free");
  }
}

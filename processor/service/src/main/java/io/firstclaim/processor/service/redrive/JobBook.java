package io.firstclaim.processor.service.redrive;

import io.firstclaim.processor.service.acts.ActMessage;
import io.firstclaim.processor.service.acts.RedriveCounts;
import io.firstclaim.processor.service.redrive.Job.State;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All redrives, by what the log of acts says of them, in its order; of those that are over, the
 * last hundred. Every instance that has read the same has the same book. Thread-safe.
 */
final class JobBook {
  private static final int MOST_OVER = 100;

  private final Map<String, Job> jobs = new LinkedHashMap<>();

  /** Takes in what was said. */
  synchronized void hear(ActMessage message) {
    switch (message) {
      case ActMessage.Act _,
          ActMessage.Dismissed _,
          ActMessage.Acknowledged _,
          ActMessage.Pause _ -> {}
      case ActMessage.RedriveBegun begun -> {
        if (!jobs.containsKey(begun.id())) {
          jobs.put(begun.id(), begin(begun));
          forget();
        }
      }
      case ActMessage.RedriveTold told ->
          jobs.computeIfPresent(told.id(), (_, job) -> told(job, told));
      case ActMessage.RedriveTaken taken ->
          jobs.computeIfPresent(taken.id(), (_, job) -> taken(job, taken));
      case ActMessage.RedriveProgress progress ->
          jobs.computeIfPresent(progress.id(), (_, job) -> progressed(job, progress));
    }
  }

  private static Job begin(ActMessage.RedriveBegun begun) {
    return new Job(
        begun.id(),
        begun.spec(),
        begun.by(),
        begun.reason(),
        begun.at(),
        State.RUNNING,
        Position.start(begun.spec().ranges()),
        RedriveCounts.NONE,
        0,
        null,
        0,
        "",
        0);
  }

  private static Job told(Job job, ActMessage.RedriveTold told) {
    return allows(job, told.command()) ? job.withState(after(told.command()), told.reason()) : job;
  }

  /** Whether a redrive can be told this. */
  static boolean allows(Job job, ActMessage.Command command) {
    return switch (command) {
      case PAUSE -> job.state() == State.RUNNING;
      case RESUME -> job.state() == State.PAUSED || job.state() == State.STOPPED;
      case CANCEL -> !job.isOver();
    };
  }

  /** Where a redrive stands that was told this. */
  static State after(ActMessage.Command command) {
    return switch (command) {
      case PAUSE -> State.PAUSED;
      case RESUME -> State.RUNNING;
      case CANCEL -> State.CANCELLED;
    };
  }

  private static Job taken(Job job, ActMessage.RedriveTaken taken) {
    return new Job(
        job.id(),
        job.spec(),
        job.by(),
        job.reason(),
        job.at(),
        job.state(),
        job.position(),
        job.counts(),
        job.underWay(),
        job.note(),
        Math.max(job.token(), taken.token()),
        taken.instance(),
        job.beat() + 1);
  }

  private static Job progressed(Job job, ActMessage.RedriveProgress progress) {
    if (progress.token() < job.token()) {
      return job; // said by an instance that does not know yet that another goes on with it
    }
    State state = job.state();
    if (progress.end() != null && state == State.RUNNING) {
      state =
          switch (progress.end()) {
            case DONE -> State.DONE;
            case STOPPED -> State.STOPPED;
          };
    }
    return new Job(
        job.id(),
        job.spec(),
        job.by(),
        job.reason(),
        job.at(),
        state,
        new Position(progress.range(), progress.offset()),
        progress.counts(),
        progress.underWay(),
        state == job.state() && state != State.RUNNING ? job.note() : progress.note(),
        progress.token(),
        progress.instance(),
        job.beat() + 1);
  }

  private void forget() {
    long over = jobs.values().stream().filter(Job::isOver).count();
    Iterator<Job> oldest = jobs.values().iterator();
    while (over > MOST_OVER && oldest.hasNext()) {
      if (oldest.next().isOver()) {
        oldest.remove();
        over--;
      }
    }
  }

  synchronized Optional<Job> get(String id) {
    return Optional.ofNullable(jobs.get(id));
  }

  /** All of them, the oldest first. */
  synchronized List<Job> all() {
    return new ArrayList<>(jobs.values());
  }
}

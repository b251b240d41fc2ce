package io.firstclaim.processor.service.cli;

import io.firstclaim.lock.TimeSource;
import io.firstclaim.processor.dataset.Dataset;
import io.firstclaim.processor.dataset.DatasetReader;
import io.firstclaim.processor.dataset.DatasetSettings;
import io.firstclaim.processor.dataset.Repair;
import io.firstclaim.processor.dataset.Verification;
import io.firstclaim.processor.service.store.AwsClients;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * {@code java -jar firstclaim.jar dataset …}: reads, checks and mends the dataset that the settings
 * name, without a running service. Exit codes: 0; 1 if {@code verify} has found something, or an
 * instance is repairing what {@code repair} would; 2 and one line if it was called wrongly, the
 * bucket cannot be asked, there is no root, or the output cannot be written.
 */
@Command(
    name = "dataset",
    description = "Reads, checks and mends the dataset that the settings name.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND")
final class DatasetCommand {
  private final Supplier<DatasetSettings> settings;

  /**
   * Commands on a dataset.
   *
   * @param settings read when they are needed, as help needs none
   */
  DatasetCommand(Supplier<DatasetSettings> settings) {
    this.settings = settings;
  }

  private S3Client client() {
    return AwsClients.S3.client(Dataset.configure(S3Client.builder()));
  }

  private static void tellThatNoRootIsThere(DatasetSettings place) {
    System.err.printf(
        "firstclaim: S3 bucket %s has no dataset under the prefix \"%s\", as it has no root: check"
            + " firstclaim.handler.dataset.bucket and firstclaim.handler.dataset.prefix, or run"
            + " 'dataset repair', which makes one of the files that are there%n",
        place.bucket(), place.prefix());
  }

  @Command(description = "Prints the path of each file that is listed, a line each.")
  int list(
      @Option(names = "--from", description = "The first partition.") @Nullable String from,
      @Option(names = "--to", description = "The last partition, or what it begins with.")
          @Nullable String to)
      throws InterruptedException {
    DatasetSettings place = settings.get();
    try (S3Client client = client();
        Printed out = new Printed()) {
      DatasetReader.Snapshot snapshot =
          new DatasetReader(client, place.bucket(), place.prefix()).snapshot();
      if (!snapshot.hasRoot()) {
        tellThatNoRootIsThere(place);
        return 2;
      }
      snapshot.forEach(from, to, file -> out.line(file.file().path()));
      return 0;
    }
  }

  @Command(
      description =
          "Tells of files without entry, entries without file and wrong hashes, a line each."
              + " Reads every file through.")
  int verify(
      @Option(
              names = "--in-flight",
              paramLabel = "SECONDS",
              description =
                  "A file that is not listed is given so long to be, as it may be written just now;"
                      + " 30 if not given.")
          @Nullable Integer inFlight)
      throws InterruptedException {
    DatasetSettings place = settings.get();
    AtomicLong findings = new AtomicLong();
    try (S3Client client = client();
        Printed out = new Printed()) {
      Verification.Compared compared =
          new Verification(
                  client,
                  place.bucket(),
                  place.prefix(),
                  inFlight == null ? Verification.IN_FLIGHT : Duration.ofSeconds(inFlight),
                  TimeSource.system())
              .run(
                  finding -> {
                    findings.incrementAndGet();
                    out.line(finding.fault() + ": " + finding.path());
                  });
      if (!compared.hasRoot()) {
        tellThatNoRootIsThere(place);
      }
      System.err.printf(
          "firstclaim: %d files in %d partitions compared%n",
          compared.files(), compared.partitions());
      if (findings.get() > 0) {
        return 1;
      }
      return compared.hasRoot() ? 0 : 2;
    }
  }

  @Command(
      description =
          "Lists what is there and not listed, takes off the list what is missing, and makes the"
              + " root anew if it is damaged.")
  int repair() throws InterruptedException {
    DatasetSettings place = settings.get();
    try (S3Client client = client();
        Printed out = new Printed()) {
      Optional<Repair> done =
          new Dataset(client, place, "dataset-command", TimeSource.system()).repairThoroughly();
      out.line(
          done.map(
                  repair ->
                      "%d files added to the list, %d taken off, %d uploads aborted"
                          .formatted(repair.added(), repair.removed(), repair.aborted()))
              .orElse("an instance is repairing the dataset; try again"));
      return done.isPresent() ? 0 : 1;
    }
  }
}

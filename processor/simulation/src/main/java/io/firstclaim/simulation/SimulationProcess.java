package io.firstclaim.simulation;

import io.firstclaim.simulation.agent.Agent;
import io.firstclaim.simulation.agent.FixedSalt;
import io.firstclaim.simulation.hook.Hooks;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A JVM that simulates: with the agent, a salt that is no chance, and no identity hashes, by which
 * sets would be in another order each time.
 */
final class SimulationProcess {
  /** Options of a JVM with the first compiler alone: quicker to start, and slower later. */
  static final List<String> C1 = List.of("-XX:TieredStopAtLevel=1");

  private static final Pattern SEED = Pattern.compile("seed (\\d+) hash ([0-9a-f]{16}) .*");
  private static final Pattern INVARIANT = Pattern.compile(" {2}invariant (\\d+): .*");
  private static final Pattern TOTAL =
      Pattern.compile("total runs (\\d+) red (\\d+) faults (\\d+) simulated (\\d+) s cpu .*");
  private static final Pattern REACHED = Pattern.compile("reached \\{(.*)}");

  private final Path folder;

  /**
   * What it printed.
   *
   * @param hashes of each seed
   * @param invariants that were violated
   * @param reached how often what was reached
   */
  record Output(
      List<String> lines,
      Map<Long, String> hashes,
      List<Integer> invariants,
      Map<String, Integer> reached,
      int faults,
      int simulatedSeconds) {}

  /**
   * Prepares what all such processes need.
   *
   * @param folder for jars and classes
   */
  SimulationProcess(Path folder) throws IOException {
    this.folder = folder;
    jar("hooks.jar", new Manifest(), Hooks.class);
    Manifest agent = new Manifest();
    agent.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    agent.getMainAttributes().putValue("Premain-Class", Agent.class.getName());
    agent.getMainAttributes().putValue("Can-Retransform-Classes", "true");
    jar("agent.jar", agent, Agent.class);
    FixedSalt.writeTo(folder.resolve("java.base"));
  }

  /** A jar with a class and those that are declared in it. */
  private void jar(String name, Manifest manifest, Class<?> type) throws IOException {
    String resource = type.getName().replace('.', '/');
    Path classes = Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath());
    try (OutputStream file = Files.newOutputStream(folder.resolve(name));
        JarOutputStream jar = new JarOutputStream(file, manifest)) {
      for (String each : classesOf(classes, resource)) {
        jar.putNextEntry(new JarEntry(each));
        try (InputStream bytes = type.getClassLoader().getResourceAsStream(each)) {
          if (bytes == null) {
            throw new IOException(each + " is not to be found");
          }
          bytes.transferTo(jar);
        }
        jar.closeEntry();
      }
    }
  }

  private static List<String> classesOf(Path root, String resource) throws IOException {
    String prefix = resource.substring(resource.lastIndexOf('/') + 1);
    String directory = resource.substring(0, resource.lastIndexOf('/') + 1);
    if (!Files.isDirectory(root)) { // the classes are packaged in a jar
      try (JarFile jar = new JarFile(root.toFile())) {
        return jar.stream().map(JarEntry::getName).filter(name -> isOf(name, resource)).toList();
      }
    }
    try (var files = Files.list(root.resolve(directory))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> isOf(name, prefix))
          .sorted()
          .map(name -> directory + name)
          .toList();
    }
  }

  private static boolean isOf(String name, String type) {
    return name.equals(type + ".class") || (name.startsWith(type + "$") && name.endsWith(".class"));
  }

  /**
   * Runs these seeds.
   *
   * @param options of the JVM
   * @param before folders of classes that stand in for the product's; mostly none
   */
  Output run(long from, int runs, List<String> options, List<Path> before) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add(
        "-javaagent:%s=%s".formatted(folder.resolve("agent.jar"), folder.resolve("hooks.jar")));
    command.add("--patch-module=java.base=" + folder.resolve("java.base"));
    for (String opened : List.of("java.lang", "java.util", "java.util.concurrent")) {
      command.add("--add-opens=java.base/%s=ALL-UNNAMED".formatted(opened));
    }
    command.addAll(
        List.of(
            "-XX:+UnlockExperimentalVMOptions",
            "-XX:hashCode=2",
            "-XX:+UseSerialGC",
            "-Xmx1g",
            "-Djdk.trackAllThreads=false",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"));
    command.addAll(options);
    List<String> classPath = new ArrayList<>(before.stream().map(Path::toString).toList());
    classPath.add(System.getProperty("java.class.path"));
    command.addAll(
        List.of(
            "-cp",
            String.join(File.pathSeparator, classPath),
            Simulation.class.getName(),
            Long.toString(from),
            Integer.toString(runs)));
    return output(command);
  }

  private static Output output(List<String> command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      try (var reader = process.inputReader()) {
        return read(reader.lines().toList());
      } finally {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Output read(List<String> lines) {
    Map<Long, String> hashes = new HashMap<>();
    List<Integer> invariants = new ArrayList<>();
    Map<String, Integer> reached = new HashMap<>();
    int faults = 0;
    int simulated = 0;
    boolean whole = false;
    for (String line : lines) {
      Matcher seed = SEED.matcher(line);
      Matcher invariant = INVARIANT.matcher(line);
      Matcher total = TOTAL.matcher(line);
      Matcher reaching = REACHED.matcher(line);
      if (seed.matches()) {
        hashes.put(Long.parseLong(seed.group(1)), seed.group(2));
      } else if (invariant.matches()) {
        invariants.add(Integer.parseInt(invariant.group(1)));
      } else if (total.matches()) {
        faults = Integer.parseInt(total.group(3));
        simulated = Integer.parseInt(total.group(4));
        whole = true;
      } else if (reaching.matches()) {
        for (String each : reaching.group(1).split(", ", -1)) {
          int equals = each.lastIndexOf('=');
          reached.put(each.substring(0, equals), Integer.parseInt(each.substring(equals + 1)));
        }
      }
    }
    if (!whole) {
      throw new IllegalStateException("it did not come to its end:\n" + String.join("\n", lines));
    }
    return new Output(lines, hashes, invariants, reached, faults, simulated);
  }
}

package io.firstclaim.lock.testkit.process;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a {@link ChildJvm} runs, on the same Java as this JVM.
 *
 * @param name for messages and log files
 * @param launch {@code -jar FILE}, or {@code -cp PATH MAIN}
 * @param env added to this JVM's own environment, from which everything that would configure the
 *     child unasked is taken ({@code FIRSTCLAIM_*}, {@code KAFKA_*}, {@code MICRONAUT_*}, {@code
 *     AWS_*})
 */
public record JvmCommand(
    String name,
    List<String> jvmArgs,
    List<String> launch,
    List<String> args,
    Map<String, String> env) {

  public JvmCommand {
    jvmArgs = List.copyOf(jvmArgs);
    launch = List.copyOf(launch);
    args = List.copyOf(args);
    env = Map.copyOf(env);
  }

  /** Runs a packaged application. */
  public static JvmCommand ofJar(String name, Path jar) {
    return new JvmCommand(name, List.of(), List.of("-jar", jar.toString()), List.of(), Map.of());
  }

  /** Runs a main class. */
  public static JvmCommand ofMain(String name, String classPath, String mainClass) {
    return new JvmCommand(
        name, List.of(), List.of("-cp", classPath, mainClass), List.of(), Map.of());
  }

  /** The same with further arguments for the JVM, such as {@code -Xmx256m}. */
  public JvmCommand withJvmArgs(List<String> more) {
    return new JvmCommand(name, joined(jvmArgs, more), launch, args, env);
  }

  /** The same with further arguments for the program. */
  public JvmCommand withArgs(List<String> more) {
    return new JvmCommand(name, jvmArgs, launch, joined(args, more), env);
  }

  /** The same with further environment variables. */
  public JvmCommand withEnv(Map<String, String> more) {
    Map<String, String> all = new LinkedHashMap<>(env);
    all.putAll(more);
    return new JvmCommand(name, jvmArgs, launch, args, all);
  }

  List<String> line() {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(jvmArgs);
    line.addAll(launch);
    line.addAll(args);
    return line;
  }

  private static List<String> joined(List<String> first, List<String> second) {
    List<String> all = new ArrayList<>(first);
    all.addAll(second);
    return all;
  }
}

package io.firstclaim.simulation.agent;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.FieldModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.MonitorInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicCallSiteDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.jar.JarFile;

/**
 * Has the JDK's timed waits and everything on the class path use the simulated clock, chance and
 * threads, and the product yield where its threads could see something of each other. Uses nothing
 * but the JDK and the names of {@code Hooks}.
 */
public final class Agent {
  private static final ClassDesc HOOKS = ClassDesc.of("io.firstclaim.simulation.hook.Hooks");
  private static final ClassDesc RANDOM = ClassDesc.of("java.util.Random");
  private static final ClassDesc THREAD_LOCAL_RANDOM =
      ClassDesc.of("java.util.concurrent.ThreadLocalRandom");
  private static final MethodTypeDesc NOTHING = MethodTypeDesc.ofDescriptor("()V");

  /** Those of the JDK that wait for a time, or draw by it. */
  private static final Set<String> WAITING =
      Set.of(
          "java/lang/VirtualThread",
          "java/lang/Thread",
          "java/util/Random",
          "java/util/concurrent/locks/AbstractQueuedSynchronizer",
          "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject",
          "java/util/concurrent/CompletableFuture",
          "java/util/concurrent/CompletableFuture$Signaller",
          "java/util/concurrent/FutureTask",
          "java/util/concurrent/LinkedTransferQueue",
          "java/util/concurrent/LinkedTransferQueue$DualNode",
          "java/util/concurrent/SynchronousQueue$Transferer",
          "java/util/concurrent/ScheduledThreadPoolExecutor",
          "java/util/concurrent/ScheduledThreadPoolExecutor$ScheduledFutureTask",
          "java/util/concurrent/ScheduledThreadPoolExecutor$DelayedWorkQueue",
          "java/util/concurrent/AbstractExecutorService");

  private static final Set<String> MAKING_THREADS =
      Set.of(
          "java/lang/ThreadBuilders$PlatformThreadBuilder",
          "java/lang/ThreadBuilders$PlatformThreadFactory");

  private static final Set<String> SEEN_BY_OTHERS =
      Set.of(
          "java/util/concurrent/ConcurrentHashMap",
          "java/util/concurrent/ConcurrentMap",
          "java/util/concurrent/locks/ReentrantLock",
          "java/util/concurrent/locks/LockSupport");

  private static final String PRODUCT = "io/firstclaim/";
  private static final Set<String> NOT_THE_PRODUCT =
      Set.of("io/firstclaim/simulation/", "io/firstclaim/stack/");

  private Agent() {}

  /**
   * Called by the JVM before the main method.
   *
   * @param hooks the jar with the hooks
   */
  public static void premain(String hooks, Instrumentation jvm)
      throws IOException, UnmodifiableClassException {
    try (JarFile jar = new JarFile(hooks)) {
      jvm.appendToBootstrapClassLoaderSearch(jar);
    }
    jvm.addTransformer(new Rewriting(), true);
    jvm.retransformClasses(
        Arrays.stream(jvm.getAllLoadedClasses())
            .filter(each -> isOfJdk(each.getName().replace('.', '/')))
            .toArray(Class[]::new));
  }

  private static boolean isOfJdk(String name) {
    return WAITING.contains(name) || MAKING_THREADS.contains(name);
  }

  private static boolean isOfProduct(String name) {
    return name.startsWith(PRODUCT) && NOT_THE_PRODUCT.stream().noneMatch(name::startsWith);
  }

  private static final class Rewriting implements ClassFileTransformer {
    @Override
    public byte[] transform(
        Module module,
        ClassLoader loader,
        String name,
        Class<?> redefined,
        ProtectionDomain domain,
        byte[] bytes) {
      try {
        if (name == null || name.startsWith("io/firstclaim/simulation/hook/")) {
          return null;
        }
        if (MAKING_THREADS.contains(name)) {
          return threads(bytes);
        }
        boolean ofJdk = WAITING.contains(name);
        boolean ofClassPath = ClassLoader.getSystemClassLoader().equals(loader);
        if (!ofJdk && !ofClassPath) {
          return null;
        }
        byte[] timed = clocks(bytes, ofClassPath);
        return isOfProduct(name) ? preempts(timed) : timed;
      } catch (RuntimeException | Error e) {
        e.printStackTrace(); // the JVM does not tell what an agent throws
        throw e;
      }
    }
  }

  /** Calls of clocks, and of the random numbers of a thread, go to the hooks. */
  private static byte[] clocks(byte[] bytes, boolean random) {
    ClassFile file = ClassFile.of();
    return file.transformClass(
        file.parse(bytes),
        ClassTransform.transformingMethodBodies(
            (code, element) -> {
              switch (element) {
                case InvokeInstruction call when redirected(code, call, random) -> {}
                case InvokeDynamicInstruction lambda when random ->
                    code.invokedynamic(redirected(lambda.invokedynamic().asSymbol()));
                default -> code.with(element);
              }
            }));
  }

  private static boolean redirected(CodeBuilder code, InvokeInstruction call, boolean random) {
    String owner = call.owner().asInternalName();
    String name = call.name().stringValue();
    boolean isStatic = call.opcode() == Opcode.INVOKESTATIC;
    if (isStatic && owner.equals("java/lang/System")) {
      if (name.equals("nanoTime") || name.equals("currentTimeMillis")) {
        code.invokestatic(HOOKS, name, call.typeSymbol());
        return true;
      }
      return false;
    }
    if (!random) {
      return false;
    }
    if (isStatic
        && owner.equals("java/time/Instant")
        && name.equals("now")
        && call.typeSymbol().parameterCount() == 0) {
      code.invokestatic(HOOKS, name, call.typeSymbol());
      return true;
    }
    if (owner.equals("java/util/concurrent/ThreadLocalRandom")) {
      if (isStatic) {
        code.invokestatic(HOOKS, "random", MethodTypeDesc.of(RANDOM));
      } else {
        code.invokevirtual(RANDOM, name, call.typeSymbol());
      }
      return true;
    }
    return false;
  }

  /** References to such methods go there too, as {@code ThreadLocalRandom::current} does. */
  private static DynamicCallSiteDesc redirected(DynamicCallSiteDesc lambda) {
    return DynamicCallSiteDesc.of(
        (DirectMethodHandleDesc) lambda.bootstrapMethod(),
        lambda.invocationName(),
        lambda.invocationType(),
        Arrays.stream(lambda.bootstrapArgs()).map(Agent::redirected).toArray(ConstantDesc[]::new));
  }

  private static ConstantDesc redirected(ConstantDesc argument) {
    return switch (argument) {
      case MethodTypeDesc type when type.returnType().equals(THREAD_LOCAL_RANDOM) ->
          type.changeReturnType(RANDOM);
      case DirectMethodHandleDesc method when method.kind() == DirectMethodHandleDesc.Kind.STATIC ->
          redirected(method);
      default -> argument;
    };
  }

  private static DirectMethodHandleDesc redirected(DirectMethodHandleDesc method) {
    String owner = method.owner().descriptorString();
    String name = method.methodName();
    MethodTypeDesc type = method.invocationType();
    if (owner.equals("Ljava/util/concurrent/ThreadLocalRandom;")) {
      return MethodHandleDesc.ofMethod(
          DirectMethodHandleDesc.Kind.STATIC, HOOKS, "random", MethodTypeDesc.of(RANDOM));
    }
    boolean isClock =
        (owner.equals("Ljava/lang/System;")
                && (name.equals("nanoTime") || name.equals("currentTimeMillis")))
            || (owner.equals("Ljava/time/Instant;")
                && name.equals("now")
                && type.parameterCount() == 0);
    return isClock
        ? MethodHandleDesc.ofMethod(DirectMethodHandleDesc.Kind.STATIC, HOOKS, name, type)
        : method;
  }

  /** What makes a platform thread first asks the hooks for a simulated one. */
  private static byte[] threads(byte[] bytes) {
    ClassFile file = ClassFile.of();
    ClassModel model = file.parse(bytes);
    ClassDesc self = model.thisClass().asSymbol();
    ClassDesc thread = ClassDesc.of("java.lang.Thread");
    ClassDesc uncaught = ClassDesc.of("java.lang.Thread$UncaughtExceptionHandler");
    ClassDesc task = ClassDesc.of("java.lang.Runnable");
    MethodTypeDesc asked = MethodTypeDesc.of(thread, ConstantDescs.CD_String, uncaught, task);
    return file.transformClass(
        model,
        ClassTransform.transformingMethodBodies(
            Agent::makesThread,
            atBegin(
                code -> {
                  Label real = code.newLabel();
                  code.aload(0)
                      .invokevirtual(
                          self, "nextThreadName", MethodTypeDesc.of(ConstantDescs.CD_String))
                      .aload(0)
                      .invokevirtual(self, "uncaughtExceptionHandler", MethodTypeDesc.of(uncaught))
                      .aload(1)
                      .invokestatic(HOOKS, "thread", asked)
                      .dup()
                      .ifnull(real)
                      .areturn()
                      .labelBinding(real)
                      .pop();
                })));
  }

  private static boolean makesThread(MethodModel method) {
    String name = method.methodName().stringValue();
    return (name.equals("unstarted") || name.equals("newThread"))
        && method.methodTypeSymbol().parameterCount() == 1;
  }

  private static CodeTransform atBegin(Consumer<CodeBuilder> what) {
    return CodeTransform.ofStateful(
        () ->
            new CodeTransform() {
              private boolean begun;

              @Override
              public void accept(CodeBuilder code, CodeElement element) {
                if (!begun && element instanceof Instruction) {
                  begun = true;
                  what.accept(code);
                }
                code.with(element);
              }
            });
  }

  /** The product yields, now and then, before what other threads may see or change. */
  private static byte[] preempts(byte[] bytes) {
    ClassFile file = ClassFile.of();
    ClassModel model = file.parse(bytes);
    Set<String> volatiles = new HashSet<>();
    for (FieldModel field : model.fields()) {
      if ((field.flags().flagsMask() & ClassFile.ACC_VOLATILE) != 0) {
        volatiles.add(field.fieldName().stringValue());
      }
    }
    String self = model.thisClass().asInternalName();
    return file.transformClass(
        model,
        (type, element) -> {
          if (element instanceof MethodModel method
              && method.code().isPresent()
              && !method.methodName().equalsString("<clinit>")
              && !method.methodName().equalsString("<init>")) {
            boolean guarded = (method.flags().flagsMask() & ClassFile.ACC_SYNCHRONIZED) != 0;
            CodeTransform yielding = new Yielding(self, volatiles, guarded);
            type.transformMethod(
                method,
                MethodTransform.transformingCode(
                    guarded
                        ? atBegin(code -> code.invokestatic(HOOKS, "enter", NOTHING))
                            .andThen(yielding)
                        : yielding));
          } else {
            type.with(element);
          }
        });
  }

  /**
   * What a method does where others could see it.
   *
   * @param guarded whether all of it is under its object's monitor
   */
  private record Yielding(String self, Set<String> volatiles, boolean guarded)
      implements CodeTransform {
    @Override
    public void accept(CodeBuilder code, CodeElement element) {
      switch (element) {
        case InvokeInstruction call when isSeenByOthers(call) -> yieldBefore(code, element);
        case FieldInstruction field when isVolatile(field) -> yieldBefore(code, element);
        case MonitorInstruction monitor when monitor.opcode() == Opcode.MONITORENTER -> {
          yieldBefore(code, element);
          code.invokestatic(HOOKS, "enter", NOTHING);
        }
        case MonitorInstruction _ -> {
          code.with(element);
          code.invokestatic(HOOKS, "exit", NOTHING);
        }
        case ReturnInstruction _ when guarded -> {
          code.invokestatic(HOOKS, "exit", NOTHING);
          code.with(element);
        }
        default -> code.with(element);
      }
    }

    private static boolean isSeenByOthers(InvokeInstruction call) {
      String owner = call.owner().asInternalName();
      return owner.startsWith("java/util/concurrent/atomic/") || SEEN_BY_OTHERS.contains(owner);
    }

    private boolean isVolatile(FieldInstruction field) {
      return field.owner().asInternalName().equals(self)
          && volatiles.contains(field.name().stringValue());
    }

    private static void yieldBefore(CodeBuilder code, CodeElement element) {
      code.invokestatic(HOOKS, "preempt", NOTHING);
      code.with(element);
    }
  }
}

package io.firstclaim.simulation.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.InvokeInstruction;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The JDK has its unmodifiable sets and maps iterate in another order in each process, by a salt
 * that it takes from the clock. With this patch of {@code java.base} the order is the same in all.
 */
public final class FixedSalt {
  private static final String CLASS = "java/util/ImmutableCollections.class";
  private static final long ANY_TIME = 1_234_567_890_123L;

  private FixedSalt() {}

  /**
   * Writes the patched class for {@code --patch-module java.base=FOLDER}.
   *
   * @param folder is made if it is not there
   */
  public static void writeTo(Path folder) throws IOException {
    Path target = folder.resolve(CLASS);
    Files.createDirectories(target.getParent());
    try (InputStream original = ClassLoader.getSystemResourceAsStream(CLASS)) {
      if (original == null) {
        throw new IOException(CLASS + " is not to be found");
      }
      ClassFile file = ClassFile.of();
      byte[] patched =
          file.transformClass(
              file.parse(original.readAllBytes()),
              ClassTransform.transformingMethodBodies(
                  method -> method.methodName().equalsString("<clinit>"),
                  (code, element) -> {
                    if (element instanceof InvokeInstruction call
                        && call.opcode() == Opcode.INVOKESTATIC
                        && call.name().equalsString("nanoTime")) {
                      code.loadConstant(ANY_TIME);
                    } else {
                      code.with(element);
                    }
                  }));
      Files.write(target, patched);
    }
  }
}

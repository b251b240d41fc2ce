package io.firstclaim.simulation.world;

import java.security.Provider;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.util.Random;

/** Where {@code SecureRandom} gets its bytes from while a world is simulated: the world's seed. */
public final class SeededRandomness extends Provider {
  private static final long serialVersionUID = 1L;
  private static Random from = new Random(0);

  private SeededRandomness() {
    super("Seeded", "1", "random bytes from a seed");
    put("SecureRandom.SHA1PRNG", Bytes.class.getName());
  }

  /** From now on all is drawn from this. */
  static void drawFrom(Random random) {
    from = random;
    if (Security.getProvider("Seeded") == null) {
      Security.insertProviderAt(new SeededRandomness(), 1);
    }
  }

  /** What the JDK makes an object of, where randomness is asked for. */
  public static final class Bytes extends SecureRandomSpi {
    private static final long serialVersionUID = 1L;

    @Override
    protected void engineSetSeed(byte[] seed) {
      // ignored: all comes from the world's seed
    }

    @Override
    protected void engineNextBytes(byte[] bytes) {
      from.nextBytes(bytes);
    }

    @Override
    protected byte[] engineGenerateSeed(int length) {
      byte[] bytes = new byte[length];
      from.nextBytes(bytes);
      return bytes;
    }
  }
}

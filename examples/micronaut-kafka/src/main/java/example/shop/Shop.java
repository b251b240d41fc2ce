package example.shop;

import io.micronaut.runtime.Micronaut;

/** The application; {@code FIRSTCLAIM_ZONE} says in which zone it runs. */
public final class Shop {
  private Shop() {}

  /** Starts it. */
  public static void main(String[] args) {
    var unused = Micronaut.run(Shop.class, args);
  }
}

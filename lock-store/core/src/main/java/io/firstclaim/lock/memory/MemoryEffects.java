package io.firstclaim.lock.memory;

import io.firstclaim.lock.Effects;

/**
 * What happens together with the move of a board's items in memory.
 *
 * @param write called once the items are known to be as expected, and before they move. It must not
 *     block or use the board. What it throws, such as an {@link
 *     io.firstclaim.lock.EffectsRefusedException}, leaves them where they are.
 */
public record MemoryEffects(Runnable write) implements Effects {}

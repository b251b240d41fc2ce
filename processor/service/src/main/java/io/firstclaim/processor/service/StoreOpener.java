package io.firstclaim.processor.service;

import io.firstclaim.lock.ClaimStore;

/** Opens the configured lock store, after verifying that claims can rest on it. */
@FunctionalInterface
interface StoreOpener {
  /**
   * The store.
   *
   * @throws io.firstclaim.lock.StoreUnavailableException if it does not answer yet
   * @throws io.firstclaim.lock.StoreRefusedException if it must not be used
   */
  ClaimStore open();
}

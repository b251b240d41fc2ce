package io.firstclaim.lock.h2;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.TimeSource;
import io.firstclaim.lock.testkit.WallClockContract;

class H2ClaimStoreTest extends WallClockContract {
  @Override
  protected ClaimStore store(ClaimSettings settings, TimeSource time) {
    return H2.store(settings, time);
  }
}

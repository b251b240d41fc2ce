package io.firstclaim.lock.h2;

import io.firstclaim.lock.ClaimSettings;
import io.firstclaim.lock.ClaimStore;
import io.firstclaim.lock.testkit.ManualTime;
import io.firstclaim.lock.testkit.RandomHistoryContract;

class H2HistoryTest extends RandomHistoryContract {
  @Override
  public ClaimStore store(ClaimSettings settings, ManualTime machine) {
    return H2.store(settings, machine);
  }

  @Override
  protected int histories() {
    return 10;
  }
}

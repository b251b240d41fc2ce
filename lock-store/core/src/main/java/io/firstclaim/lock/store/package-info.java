/**
 * For authors of stores: what a store must be able to do ({@link
 * io.firstclaim.lock.store.ClaimRecords}), and the driver that makes a claim store of it ({@link
 * io.firstclaim.lock.store.DrivenClaimStore}). Whoever only uses claims needs nothing of this.
 *
 * <p>The rule itself, by which a claim changes state, is in here and not public: a store cannot get
 * it wrong.
 */
@NullMarked
package io.firstclaim.lock.store;

import org.jspecify.annotations.NullMarked;

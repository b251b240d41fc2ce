/**
 * For authors of stores: what a store must be able to do ({@link
 * io.firstclaim.lock.store.ClaimRecords}), and the driver that makes a claim store of it ({@link
 * io.firstclaim.lock.store.DrivenClaimStore}). If you only use claims, you need none of this.
 *
 * <p>The rule by which a claim changes state is in here too, and not public: a store cannot get it
 * wrong.
 */
@NullMarked
package io.firstclaim.lock.store;

import org.jspecify.annotations.NullMarked;

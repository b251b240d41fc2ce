/**
 * The contracts that a claim store keeps, as JUnit tests for its author to inherit, and the clocks
 * and histories that they need. A store of your own, built on {@link
 * io.firstclaim.lock.store.DrivenClaimStore} or not, proves itself like this:
 *
 * {@snippet :
 * class MyClaimStoreTest extends WallClockContract { // if it judges leases by its users' clocks
 *   private final DataSource database = MyDatabase.start();
 *
 *   @Override
 *   protected ClaimStore store(ClaimSettings settings, TimeSource time) {
 *     return new MyClaimStore(database, settings, time); // all of one test share the database
 *   }
 * }
 * }
 *
 * <p>The suites, each to be inherited by a class of its own. Every claim store passes these:
 *
 * <ul>
 *   <li>{@link io.firstclaim.lock.testkit.ClaimStoreContract}: claims, takeovers, steps under a
 *       lease, races; {@link io.firstclaim.lock.testkit.WallClockContract} the same and more, for a
 *       store that has no clock of its own;
 *   <li>{@link io.firstclaim.lock.testkit.RandomHistoryContract}: random histories, compared with
 *       the store in memory; {@link io.firstclaim.lock.testkit.ClockTortureContract}: others, of
 *       machines whose clocks are set, slewed, frozen and suspended;
 *   <li>{@link io.firstclaim.lock.testkit.mutex.MutexContract} and {@link
 *       io.firstclaim.lock.testkit.mutex.MutexProcessesContract}: a mutex over the store, in one
 *       process and, if processes share it, in several that are killed;
 *   <li>{@link io.firstclaim.lock.testkit.deduplicator.DeduplicatorContract}: work done once over
 *       the store.
 * </ul>
 *
 * <p>These are for those whom they concern:
 *
 * <ul>
 *   <li>over HTTP, {@link io.firstclaim.lock.testkit.FaultContract}: requests and answers lost,
 *       doubled and refused;
 *   <li>where others may write what is no claim, {@link
 *       io.firstclaim.lock.testkit.UnreadableClaimContract};
 *   <li>on AWS {@link io.firstclaim.lock.testkit.ConnectionContract}, {@link
 *       io.firstclaim.lock.testkit.aws.LateRequestContract} and {@link
 *       io.firstclaim.lock.testkit.aws.TimeLimitContract};
 *   <li>a store of documents, {@link io.firstclaim.lock.testkit.document.SharedDocumentsContract};
 *       one of status boards, which writes several items at once, {@link
 *       io.firstclaim.lock.testkit.board.StatusBoardContract}.
 * </ul>
 */
@NullMarked
package io.firstclaim.lock.testkit;

import org.jspecify.annotations.NullMarked;

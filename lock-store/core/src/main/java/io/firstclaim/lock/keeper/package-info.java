/** Leases kept alive while somebody works under them. */
@NullMarked
package io.firstclaim.lock.keeper;

import org.jspecify.annotations.NullMarked;

/** Claims on record IDs: the port every backend implements, and its values. */
@NullMarked
package io.firstclaim.lock;

import org.jspecify.annotations.NullMarked;

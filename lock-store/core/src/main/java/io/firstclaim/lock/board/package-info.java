/** Named items, each with a status, several of which move at once or none. */
@NullMarked
package io.firstclaim.lock.board;

import org.jspecify.annotations.NullMarked;

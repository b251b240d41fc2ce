/** Shared documents that many writers update without losing an update: the port and the loop. */
@NullMarked
package io.firstclaim.lock.document;

import org.jspecify.annotations.NullMarked;

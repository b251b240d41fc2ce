/** A handler by itself. */
@NullMarked
package example.handler;

import org.jspecify.annotations.NullMarked;

/** A shop that runs in two zones. */
@NullMarked
package example.shop;

import org.jspecify.annotations.NullMarked;

/** Claims for anyone's code. */
@NullMarked
package example.claims;

import org.jspecify.annotations.NullMarked;

/** The engine inside your own application. */
@NullMarked
package example.embedded;

import org.jspecify.annotations.NullMarked;

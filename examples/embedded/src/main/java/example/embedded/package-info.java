/** The engine in an application of one's own. */
@NullMarked
package example.embedded;

import org.jspecify.annotations.NullMarked;

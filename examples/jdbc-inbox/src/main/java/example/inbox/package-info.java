/** An effect in a relational database that happens once. */
@NullMarked
package example.inbox;

import org.jspecify.annotations.NullMarked;

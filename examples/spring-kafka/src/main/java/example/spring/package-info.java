/** An application in two zones, each of which gets every record. */
@NullMarked
package example.spring;

import org.jspecify.annotations.NullMarked;

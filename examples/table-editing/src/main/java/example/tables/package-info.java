/** Editing tables that have foreign keys: who edits one locks its parents. */
@NullMarked
package example.tables;

import org.jspecify.annotations.NullMarked;

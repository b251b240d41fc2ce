/** What is published, as its users get it. */
@NullMarked
package io.firstclaim.published;

import org.jspecify.annotations.NullMarked;

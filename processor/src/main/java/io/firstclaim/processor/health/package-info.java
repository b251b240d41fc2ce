/** Health indicators; observes only. */
@NullMarked
package io.firstclaim.processor.health;

import org.jspecify.annotations.NullMarked;

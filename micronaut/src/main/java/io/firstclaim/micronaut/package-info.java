/** Firstclaim in Micronaut applications. */
@NullMarked
package io.firstclaim.micronaut;

import org.jspecify.annotations.NullMarked;

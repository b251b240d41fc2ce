/** {@code @Deduplicated} and {@code @Exclusive} on scheduled jobs, by advice on their methods. */
@NullMarked
package io.firstclaim.micronaut.jobs;

import org.jspecify.annotations.NullMarked;

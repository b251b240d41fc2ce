/**
 * {@code @Deduplicated} and {@code @Exclusive} on scheduled jobs, by what their scheduler is given.
 */
@NullMarked
package io.firstclaim.spring.jobs;

import org.jspecify.annotations.NullMarked;

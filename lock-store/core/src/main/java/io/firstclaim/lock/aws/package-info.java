/**
 * What the stores on AWS have in common, apart from their services: time limits, and faults put
 * into words. Internal to this library; it needs the SDK, which those stores bring along.
 */
@NullMarked
package io.firstclaim.lock.aws;

import org.jspecify.annotations.NullMarked;

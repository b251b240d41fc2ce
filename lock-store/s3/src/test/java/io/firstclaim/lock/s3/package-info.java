@NullMarked
package io.firstclaim.lock.s3;

import org.jspecify.annotations.NullMarked;

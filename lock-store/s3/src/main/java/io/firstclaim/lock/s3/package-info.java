/** The claim store on Amazon S3 and on stores that keep its conditional writes. */
@NullMarked
package io.firstclaim.lock.s3;

import org.jspecify.annotations.NullMarked;

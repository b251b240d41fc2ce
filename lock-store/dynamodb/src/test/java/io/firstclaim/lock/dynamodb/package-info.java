@NullMarked
package io.firstclaim.lock.dynamodb;

import org.jspecify.annotations.NullMarked;

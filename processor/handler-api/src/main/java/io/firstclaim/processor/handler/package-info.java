/** What is done with a record: the SPI and the built-in handlers. */
@NullMarked
package io.firstclaim.processor.handler;

import org.jspecify.annotations.NullMarked;

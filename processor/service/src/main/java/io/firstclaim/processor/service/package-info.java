/** The service as a program: what the launcher calls. */
@NullMarked
package io.firstclaim.processor.service;

import org.jspecify.annotations.NullMarked;

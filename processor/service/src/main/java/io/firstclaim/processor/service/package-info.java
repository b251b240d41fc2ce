/** The service: its start, its stop and how its parts are wired. */
@NullMarked
package io.firstclaim.processor.service;

import org.jspecify.annotations.NullMarked;

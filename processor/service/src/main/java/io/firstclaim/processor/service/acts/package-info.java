/**
 * What operators do, written down before it is done: the topic of acts, and how it is read. Its one
 * partition is the order of all acts of an application.
 */
@NullMarked
package io.firstclaim.processor.service.acts;

import org.jspecify.annotations.NullMarked;

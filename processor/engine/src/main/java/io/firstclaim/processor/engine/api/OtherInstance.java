package io.firstclaim.processor.engine.api;

import java.time.Duration;

/**
 * Another instance of the application, of whichever zone, of which something has been heard.
 *
 * @param zone its zone, printable
 * @param instance its name, printable
 * @param silence for how long nothing has been heard of it at most: five seconds for each
 *     announcement that this instance has made since. One that lives makes them as often, so up to
 *     ten seconds say nothing. After half a minute, or when it says that it stops, it is known no
 *     more
 */
public record OtherInstance(String zone, String instance, Duration silence) {}

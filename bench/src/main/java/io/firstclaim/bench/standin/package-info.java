/**
 * A server of DynamoDB's protocol that is no wall: what the product asks of DynamoDB and nothing
 * else, in memory, with conditions evaluated for real. It passes the contracts of the DynamoDB
 * stores, of which {@code StandInTest} runs those of claims in each build; what it does not know it
 * refuses loudly.
 */
@NullMarked
package io.firstclaim.bench.standin;

import org.jspecify.annotations.NullMarked;

import type { InMemoryServerEventBus, ServerEvent, ServerEventBus } from "@modelcontextprotocol/server";
import type { Sdk } from "./forms.ts";
import type { ResourceWatch } from "./resource-watch.ts";

/** Publishes changes of resources to the open streams of the newer protocol, and watches only while a stream is open. */
export class WatchedBus implements ServerEventBus {
  readonly #bus: InMemoryServerEventBus;
  readonly #watch: ResourceWatch;
  #end: (() => void) | undefined;

  constructor(sdk: Sdk, watch: ResourceWatch) {
    this.#bus = new sdk.InMemoryServerEventBus();
    this.#watch = watch;
  }

  publish(event: ServerEvent): void {
    this.#bus.publish(event);
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    const end = this.#bus.subscribe(listener);
    this.#end ??= this.#watch.subscribe((uri) => this.publish({ kind: "resource_updated", uri }));
    return () => {
      end();
      if (this.#bus.listenerCount > 0) return;
      this.#end?.();
      this.#end = undefined;
    };
  }
}

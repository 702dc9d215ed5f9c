import type { Server } from "@modelcontextprotocol/server";
import type { Sdk } from "./forms.ts";
import type { ResourceWatch } from "./resource-watch.ts";
import type { TeamResources } from "./resources.ts";

/** Maximum subscriptions of one connection: more than a team has resources. */
const MAX_SUBSCRIPTIONS = 200;

/** The subscriptions of one connection of the older protocol; in the newer one, the package keeps them. */
export class Subscriptions {
  readonly #sdk: Sdk;
  readonly #server: Server;
  readonly #resources: TeamResources;
  readonly #watch: ResourceWatch;
  readonly #uris = new Set<string>();
  #end: (() => void) | undefined;

  constructor(sdk: Sdk, server: Server, resources: TeamResources, watch: ResourceWatch) {
    this.#sdk = sdk;
    this.#server = server;
    this.#resources = resources;
    this.#watch = watch;
  }

  serve(): void {
    const { onclose } = this.#server;
    this.#server.onclose = () => {
      this.#end?.();
      onclose?.();
    };
    this.#server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
      this.#add(uri);
      return {};
    });
    this.#server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
      this.#uris.delete(uri);
      if (this.#uris.size === 0) this.#stop();
      return {};
    });
  }

  #add(uri: string): void {
    if (!this.#resources.isKnown(uri)) throw this.#refusal("There is no such resource.");
    if (this.#uris.size >= MAX_SUBSCRIPTIONS && !this.#uris.has(uri))
      throw this.#refusal(`A connection can subscribe to at most ${MAX_SUBSCRIPTIONS} resources.`);
    this.#uris.add(uri);
    this.#end ??= this.#watch.subscribe((changed) => {
      if (!this.#uris.has(changed)) return;
      // The connection may end at the same moment.
      void this.#server.sendResourceUpdated({ uri: changed }).catch(() => undefined);
    });
  }

  #stop(): void {
    this.#end?.();
    this.#end = undefined;
  }

  #refusal(text: string): Error {
    return new this.#sdk.ProtocolError(this.#sdk.ProtocolErrorCode.InvalidParams, text);
  }
}

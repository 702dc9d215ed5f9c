import { randomUUID } from "node:crypto";
import { serverAt } from "../../backend/tmux/server-for.ts";
import { messageOf } from "../../errors.ts";
import { isLocalProcess, livenessOf } from "../../os/process/identity.ts";
import type { PlaceRecord, ServerWatchRecord } from "../../schema/status.ts";
import { readTeam } from "../../team/config/config.ts";
import { readPlace } from "../../team/records/read-records.ts";
import { type ServerWatch, watchServer } from "../../tmux/server-exit.ts";
import { type Bell, ManualBell } from "../../wakeup/bell.ts";
import type { OperationContext } from "../context.ts";

export interface TmuxServerExitsOptions {
  /** Called when a server with teammates' panes has ended. */
  onExit(socket: string): void;
  /** Called with the current watches, to be recorded so that another process can end them. */
  onWatches(watches: readonly ServerWatchRecord[]): void;
}

interface Options extends TmuxServerExitsOptions {
  /** Receives an error of the other functions. Must not throw: no caller waits for the exit of a server. */
  onProblem(message: string): void;
}

/** The exits of the tmux servers that teammates live in, as one bell. */
export class TmuxServerExits {
  readonly bell: Bell;
  readonly #ctx: OperationContext;
  readonly #options: Options;
  readonly #watches = new Map<string, ServerWatch>();
  readonly #records = new Map<string, ServerWatchRecord>();
  readonly #rings = new ManualBell(() => undefined);

  constructor(ctx: OperationContext, options: Options) {
    this.#ctx = ctx;
    this.#options = options;
    this.bell = this.#rings;
  }

  /** Watches the servers of the current members; a server that has ended is not watched again. @throws TeamError TEAM_NOT_FOUND */
  follow(): void {
    for (const { name } of readTeam(this.#ctx.ref).members) {
      const server = serverOf(readPlace(this.#ctx.ref, name));
      if (server === undefined) continue;
      const key = `${server.pid} ${server.socket}`;
      if (!this.#watches.has(key)) this.#watches.set(key, this.#watch(key, server));
    }
  }

  /** Ends all watches, so that no tmux client is left. @throws TmuxError */
  async close(): Promise<void> {
    this.#rings.close();
    await Promise.all([...this.#watches.values()].map((watch) => watch.close()));
  }

  #watch(key: string, server: ServerWatchRecord["server"]): ServerWatch {
    const channel = `teams-${randomUUID()}`;
    const driver = serverAt(server, this.#ctx.env);
    const watch = watchServer(driver, channel, server.pid, (client) =>
      this.#record(key, { channel, server, client }),
    );
    void watch.gone.then(() => this.#handleExit(key, server.socket));
    return watch;
  }

  /** Never throws. Rings in any case: the supervisor then finds the ends of the members. */
  #handleExit(key: string, socket: string): void {
    try {
      this.#record(key, undefined);
      this.#options.onExit(socket);
    } catch (error) {
      this.#options.onProblem(messageOf(error));
    } finally {
      this.#rings.ring();
    }
  }

  #record(key: string, record: ServerWatchRecord | undefined): void {
    if (record === undefined) this.#records.delete(key);
    else this.#records.set(key, record);
    this.#options.onWatches([...this.#records.values()]);
  }
}

/** Returns the running server of a place; undefined without a server, or if it is on another machine. */
function serverOf(place: PlaceRecord | undefined): ServerWatchRecord["server"] | undefined {
  if (place?.server === undefined || !isLocalProcess({ ...place, pid: place.server.pid })) return undefined;
  return livenessOf(place.server) === "alive" ? place.server : undefined;
}

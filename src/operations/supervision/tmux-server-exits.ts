import { randomUUID } from "node:crypto";
import { serverAt } from "../../backend/tmux/server-for.ts";
import { isLocalProcess, livenessOf } from "../../os/process/identity.ts";
import type { PlaceRecord, ServerWatchRecord } from "../../schema/status.ts";
import { readTeam } from "../../team/config/config.ts";
import { readPlace } from "../../team/records/read-records.ts";
import { type ServerWatch, watchServer } from "../../tmux/server-exit.ts";
import type { Bell } from "../../wakeup/bell.ts";
import { ManualBell } from "../../wakeup/manual-bell.ts";
import type { OperationContext } from "../context.ts";

export interface ServerEndsOptions {
  /** A server with panes of teammates has ended. */
  onEnd(socket: string): void;
  /** What is watched now, to be written down so that it can be ended by another. */
  onWatches(watches: readonly ServerWatchRecord[]): void;
}

/** The ends of the tmux servers that teammates live in, as one bell. */
export class ServerEnds {
  readonly bell: Bell;
  readonly #ctx: OperationContext;
  readonly #options: ServerEndsOptions;
  readonly #watches = new Map<string, ServerWatch>();
  readonly #records = new Map<string, ServerWatchRecord>();
  readonly #rings = new ManualBell(() => undefined);

  constructor(ctx: OperationContext, options: ServerEndsOptions) {
    this.#ctx = ctx;
    this.#options = options;
    this.bell = this.#rings;
  }

  /** Follows the servers of who is a member now; one that has ended is not followed again. @throws TeamError TEAM_NOT_FOUND */
  follow(): void {
    for (const { name } of readTeam(this.#ctx.ref).members) {
      const server = serverOf(readPlace(this.#ctx.ref, name));
      if (server === undefined) continue;
      const key = `${server.pid} ${server.socket}`;
      if (!this.#watches.has(key)) this.#watches.set(key, this.#watch(key, server));
    }
  }

  /** Ends every watch, so that no client is left. @throws TmuxError */
  async close(): Promise<void> {
    this.#rings.close();
    await Promise.all([...this.#watches.values()].map((watch) => watch.close()));
  }

  #watch(key: string, server: ServerWatchRecord["server"]): ServerWatch {
    const channel = `teams-${randomUUID()}`;
    const driver = serverAt(server.socket, this.#ctx.env);
    const watch = watchServer(driver, channel, server.pid, (client) =>
      this.#record(key, { channel, server, client }),
    );
    void watch.gone.then(() => {
      this.#record(key, undefined);
      this.#options.onEnd(server.socket);
      this.#rings.ring();
    });
    return watch;
  }

  #record(key: string, record: ServerWatchRecord | undefined): void {
    if (record === undefined) this.#records.delete(key);
    else this.#records.set(key, record);
    this.#options.onWatches([...this.#records.values()]);
  }
}

/** The living server that a place is in; undefined for one of another machine, and where there is none. */
function serverOf(place: PlaceRecord | undefined): ServerWatchRecord["server"] | undefined {
  if (place?.server === undefined || !isLocalProcess({ ...place, pid: place.server.pid })) return undefined;
  return livenessOf(place.server) === "alive" ? place.server : undefined;
}

import { isAbsolute } from "node:path";
import * as z from "zod/mini";
import { SANDBOX_MODES, stricterMode } from "../../schema/permission-modes.ts";

const sandboxMode = z.enum(SANDBOX_MODES);
const HOST = /^(\*\.)?[^\s*/:@]+$|^[0-9a-f:]*:[0-9a-f:.]*$/i;

const host = z
  .string()
  .check(
    z.regex(HOST, "must be a host, such as registry.npmjs.org or *.example.org, without a port or a path"),
  );
const path = z
  .string()
  .check(
    z.refine(
      (text) => isAbsolute(text) || text === "~" || text.startsWith("~/"),
      "must be an absolute path, or begin with ~/",
    ),
  );

/** The key `teams.sandbox` of settings. */
export const sandboxSetting = z.looseObject({
  mode: z
    ._default(sandboxMode, "off")
    .check(
      z.describe(
        "off: commands run with your rights; auto: in the sandbox if it works; required: no agent starts without it",
      ),
    ),
  network: z
    ._default(
      z.union([z.enum(["none", "allow"]), z.array(host)], 'must be "none", "allow" or a list of hosts'),
      "none",
    )
    .check(z.describe("Network of commands in the sandbox: none, allow (everything), or a list of hosts")),
  write: z
    ._default(z.array(path), [])
    .check(z.describe("Additional paths that commands may write: absolute, or beginning with ~/")),
  read: z
    ._default(z.array(path), [])
    .check(z.describe("Hidden paths that commands may read, such as ~/.npmrc")),
});
export type SandboxSetting = z.infer<typeof sandboxSetting>;

/** The network of a sandbox: nothing, everything, or a list of hosts. */
type Network = SandboxSetting["network"];

/**
 * Returns the settings that an untrusted project may change: a stricter mode and a smaller network. Everything else in the project's
 * settings is ignored, as are invalid parts.
 */
export function narrowedSandbox(below: unknown, given: unknown): Readonly<Record<string, unknown>> {
  const base = sandboxSetting.safeParse(below ?? {}).data;
  if (base === undefined || typeof given !== "object" || given === null) return {};
  const { mode: wantedMode, network: wantedNetwork } = given as Readonly<Record<string, unknown>>;
  const mode = sandboxMode.safeParse(wantedMode).data;
  const network = sandboxSetting.safeParse({ network: wantedNetwork }).data?.network;
  return {
    ...(mode === undefined ? {} : { mode: stricterMode(base.mode, mode) }),
    ...(network === undefined || wantedNetwork === undefined
      ? {}
      : { network: smallerNetwork(base.network, network) }),
  };
}

function smallerNetwork(below: Network, wanted: Network): Network {
  if (below === "none" || wanted === "none") return "none";
  if (wanted === "allow") return below;
  return below === "allow" ? wanted : wanted.filter((one) => below.includes(one));
}

/** Values inserted into the plugin's source. */
interface BridgePlugin {
  readonly socketPath: string;
  /** OpenCode's permission settings, which override the project's files. */
  readonly permission: Readonly<Record<string, string>>;
  /** Variables, with their values, for the commands that OpenCode runs. */
  readonly commandEnv: Readonly<Record<string, string>>;
  /** Variables that only the start needs. */
  readonly removed: readonly string[];
}

/**
 * The plugin that OpenCode loads for us. It carries requests to OpenCode's own HTTP handler, inside its process, and events back: no
 * port is open and no password exists, so a command that OpenCode runs can neither find nor use them. It connects once, before the
 * first message, and our socket then takes no other connection. Plain JavaScript: OpenCode's runtime loads the file unchanged.
 */
const SOURCE = `
import { connect } from "node:net";
import { createInterface } from "node:readline";

const WANTED = /^(?:session\\.(?:status|idle|error)|message\\.part\\.updated|permission\\..+|question\\..+)$/;

let opened;
// OpenCode loads its instance again after some changes: the connection stays.
let request;

const open = async () => {
  const socket = connect(SETUP.socketPath);
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  socket.on("error", () => socket.destroy());
  const send = (value) => socket.write(JSON.stringify(value) + "\\n");
  const answer = async ({ id, method, path, body }) => {
    try {
      const response = await request(method, path, body);
      send({ id, status: response.status, text: await response.text() });
    } catch (error) {
      send({ id, status: 0, text: String(error) });
    }
  };
  createInterface({ input: socket })
    .on("line", (line) => void answer(JSON.parse(line)))
    .on("error", () => undefined);
  return send;
};

export const TeamsBridge = async (input) => {
  opened ??= open();
  const send = await opened;
  try {
    return hooksOf(input, send);
  } catch (error) {
    send({ failed: String(error) });
    throw error;
  }
};

const hooksOf = ({ client, directory }, send) => {
  const { baseUrl, fetch } = (client._client ?? client.client).getConfig();
  const headers = { "content-type": "application/json", "x-opencode-directory": encodeURIComponent(directory) };
  request = (method, path, body) =>
    fetch(new Request(baseUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) }));
  for (const name of SETUP.removed) delete process.env[name];
  return {
    config: async (config) => {
      config.permission = SETUP.permission;
      for (const agents of [config.agent, config.mode])
        for (const agent of Object.values(agents ?? {})) agent.permission = SETUP.permission;
      send({ ready: true });
    },
    event: async ({ event: { type, properties } }) => {
      if (WANTED.test(type)) send({ type, properties });
    },
    "shell.env": async (_, { env }) => {
      Object.assign(env, SETUP.commandEnv);
    },
  };
};
`;

/** Returns the file of the plugin. */
export function bridgePlugin(plugin: BridgePlugin): string {
  return `const SETUP = ${JSON.stringify(plugin)};\n${SOURCE}`;
}

/**
 * Packages that are not bundled: blessed reads files in its package directory, and the SDKs of protocols would pull parts of zod
 * into every command.
 */
export const EXTERNAL = /^(blessed|@modelcontextprotocol\/(client|server)|@agentclientprotocol\/sdk)($|\/)/;

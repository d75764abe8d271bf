// The page and the server are one origin for the browser: no CORS, and the cookie of the server's own.
export default { server: { proxy: { "/api": { target: process.env.CHATWRIGHT ?? "http://127.0.0.1:3000", changeOrigin: true } } } };

export default {
  en: {
    "login.title": "Log in",
    "login.token": "Admin token, or a key",
    "login.hint": "The value of admin.token in the proxy's configuration; or a key of this proxy, for its own numbers.",
    "login.enter": "Log in",
    "login.wrong": "That is neither the admin token nor a key of this proxy.",
    "login.often": "Too many attempts. Wait a moment.",
    "login.forbidden": "This proxy does not listen on loopback only, and no admin.token is set: nobody can look in until there is one.",
    "login.what": "What this proxy saves and remembers is for whoever runs it; a key sees what is its own.",
  },
  es: {
    "login.title": "Entrar",
    "login.token": "Token de administración, o una clave",
    "login.hint": "El valor de admin.token en la configuración del proxy; o una clave de este proxy, para ver lo suyo.",
    "login.enter": "Entrar",
    "login.wrong": "No es el token de administración ni una clave de este proxy.",
    "login.often": "Demasiados intentos. Esperá un momento.",
    "login.forbidden": "Este proxy no escucha solo en loopback y no tiene admin.token: nadie puede mirar hasta que lo haya.",
    "login.what": "Lo que este proxy ahorra y recuerda es para quien lo administra; una clave ve lo suyo.",
  },
};

"""Names of the attributes that people tell of themselves, the same in both languages: "my salary", "cuánto gano".

Words that look alike in both ("tattoo", "tatuaje") need no entry. Folded: lower case, no accents.
"""

# A name, and the words that tell it.
_ATTRIBUTES = """
residence: address home-address live lives living moved direccion domicilio vivo vive vivimos mude
income: salary wage wages income earn earns earned earning sueldo salario gano gana ingresos cobro nomina paycheck
pay: pay pays paid paying pago pagas paga pagamos
rent: rent alquiler renta arriendo
debt: debt debts owe owes owing debo debe deuda deudas
savings: saved savings saving ahorrado ahorrando ahorro ahorros ahorre
birthday: birthday birthdate born birth birthplace cumpleanos cumple naci nacio nacimiento
age: age old edad
phone: phone mobile telephone cell telefono celular movil
email: email e-mail correo mail
blood: blood sangre sanguineo
weight: weight weigh weighs kilos kg peso pesa
height: height tall altura estatura mido mide
name: name names named called nombre nombres llama llaman llamo apellido surname
nickname: nickname apodo mote sobrenombre
job: job work works worked working occupation employer company empresa trabajo trabaja trabajas laburo labura empleo
diet: diet dieta
pregnancy: pregnant pregnancy expecting embarazada embarazo
politics: vote votes voted voting politics voto votado politica
car: car auto coche carro
truck: truck lorry camion
boat: boat sailboat narrowboat barco velero bote
mooring: mooring moorings amarre
flat: flat apartment piso departamento depto apartamento
house: house casa
school: school escuela colegio cole
appointment: appointment cita turno
interview: interview interviews entrevista
wedding: wedding boda casamiento
surgery: surgery operation operacion cirugia operaron operan
lawsuit: lawsuit sue sues sued suing juicio demanda demando demandaron
prison: prison jail carcel preso presa
smoking: smoke smokes smoking smoker fumo fuma fumar fumador fumadora
password: password clave contrasena
medication: medication meds medicine pills medicacion pastillas medicamento medicamentos remedios
illness: illness disease sick enfermedad
stammer: stammer stutter tartamudo tartamuda tartamudez
tattoo: tattoo tattoos tatuaje tatuajes
trip: trip travel holiday viaje vacaciones
"""
ATTRIBUTE_NAMES = {
    word: name
    for entry in _ATTRIBUTES.strip().split("\n")
    for name, _, said in [entry.partition(": ")]
    for word in said.split()
}
